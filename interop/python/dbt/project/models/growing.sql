{{ config(materialized='incremental', unique_key='id') }}
select id, name, price from {{ source('lake', 'item') }}
{% if is_incremental() %}
where id > (select max(id) - 10 from {{ this }})
{% else %}
where id <= 100
{% endif %}
